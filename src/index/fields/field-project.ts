import {
  addFields,
  appendVersion,
  type FieldStore,
  fieldBytes,
  keepVersions,
  openFields,
} from "../../../native/fields.ts";
import type { NumberSet } from "../versions/number-set.ts";
import { chunksOf, VersionTable } from "../versions/version-table.ts";
import type { VersionFields } from "./version-fields.ts";

/** The fields of one project's file versions, by the numbers of its table, which gets its versions from here. */
export class FieldProject {
  #store = openFields();

  constructor(readonly table = new VersionTable()) {}

  /** Memory of the fields and of the table, in bytes. */
  get bytes(): number {
    return this.table.bytes + fieldBytes(this.#store);
  }

  /** The values of the fields. It is another one whenever versions get other numbers. */
  get store(): FieldStore {
    return this.#store;
  }

  add({ id, path, frontmatter, dimensions, metadata }: VersionFields): void {
    const texts = [JSON.stringify(frontmatter), JSON.stringify(metadata)] as const;
    addFields(this.#store, id, path, ...texts, chunksOf(dimensions));
    this.table.append(id, dimensions);
  }

  /** Adds a version without values, which are restored later. */
  restore(id: string, dimensions: readonly number[]): void {
    appendVersion(this.#store, id, chunksOf(dimensions));
    this.table.append(id, dimensions);
  }

  /** Keeps these versions only, under other numbers. */
  keep(versions: NumberSet): void {
    this.#store = keepVersions(this.#store, versions);
  }
}
