/**
 * The versions of everything that the service writes to `DATA_DIR/index`. A snapshot with another version is refused
 * and the index is rebuilt from the database, so an upgrade never reads bytes that it would misunderstand. Raise a
 * version whenever its layout or meaning changes.
 */
export const DISK_FORMATS = {
  /** `manifest.json` of a project: the database, the place in the change log, the checksum. */
  projectManifest: 1,
  /**
   * The addon's snapshot of a project: `vector/MANIFEST`, its state and slab files, and how the
   * vectors are coded. C++ states the same number (native/src/snapshot/snapshot.hpp); a test compares them.
   */
  nativeSnapshot: 8,
  /** The list of file versions and their ordinals that `vector/MANIFEST` carries as its `meta`. */
  vectorVersions: 3,
  /** `text/text.json`: the segments and the versions without text; and the version of the tables of words. */
  textManifest: 4,
  /** A `text/<key>.segment` file: its layout, and the tokens, stems and impacts that it holds. */
  textSegment: 10,
  /** `fields/fields.ndjson`: the file versions with the columns that filters compare, and the scopes. */
  versionFields: 6,
} as const;

/** The reason for refusing a file of another version, in the words of the addon. */
export const otherFormat = (found: number | string, expected: number | string): string =>
  `format version ${found}, this build reads ${expected}`;

const OTHER_FORMAT = /format version [\w. ]+, this build reads [\w. ]+$/;

/** The part of a reason that names another version; undefined for every other reason. */
export const otherFormatIn = (reason: string): string | undefined => OTHER_FORMAT.exec(reason)?.[0];
