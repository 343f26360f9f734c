import { call, type Schemas } from "../base/api.ts";
import { useResource } from "../base/resource.ts";
import { Select } from "../parts/form.tsx";

interface EmbedderSelectProps {
  /** Empty without an embedder. */
  readonly value: string;
  /** True if the embedder is optional. */
  readonly optional: boolean;
  readonly onChange: (name: string) => void;
}

const NONE = { value: "", label: "none: found by words only" };

/** A choice of the service's embedders. A removed embedder stays chosen until the user chooses another one. */
export function EmbedderSelect({ value, optional, onChange }: EmbedderSelectProps) {
  const { value: list } = useResource("embedders", async (signal) => {
    return (await call<Schemas["EmbedderList"]>("embedders", { signal })).body.data;
  });
  const listed = (list ?? []).map(({ name, dimension }) => ({
    value: name,
    label: `${name} (${dimension} dimensions)`,
  }));
  const isKnown = value === "" || listed.some((each) => each.value === value);
  const options = [
    ...(optional ? [NONE] : []),
    ...(isKnown ? [] : [{ value, label: value }]),
    ...listed,
  ];
  return <Select label="Embedder" value={value} options={options} onChange={onChange} />;
}
