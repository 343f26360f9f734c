import { useResource } from "../base/resource.ts";
import { client } from "../base/service.ts";
import { Select } from "../parts/form.tsx";

interface EmbedderSelectProps {
  /** Chosen first; empty without an embedder. */
  readonly value: string;
  /** True if the embedder is optional. */
  readonly optional: boolean;
}

const NONE = { value: "", label: "none: found by words only" };

/**
 * The field `embedder`: a choice of the service's embedders. A removed embedder stays chosen until the user chooses
 * another one.
 */
export function EmbedderSelect({ value, optional }: EmbedderSelectProps) {
  const { value: list } = useResource("embedders", (signal) => client.listEmbedders({ signal }));
  const listed = (list?.data ?? []).map(({ name, dimension }) => ({
    value: name,
    label: `${name} (${dimension} dimensions)`,
  }));
  const options = optional ? [NONE, ...listed] : listed;
  return <Select label="Embedder" name="embedder" value={value} options={options} />;
}
