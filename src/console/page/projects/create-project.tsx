import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, type Schemas } from "../base/api.ts";
import { hrefOf, navigate } from "../base/router.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Form, TextField } from "../parts/form.tsx";
import { EmbedderSelect } from "./embedder-select.tsx";

const EMBEDDER = "hashing";

/** A name as a slug: `My handbook` becomes `my-handbook`. */
const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");

export function CreateProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [slug, setSlug] = useState<string | undefined>(undefined);
  const [embedder, setEmbedder] = useState(EMBEDDER);
  const create = useAction(async () => {
    const json = {
      name,
      slug: slug ?? slugOf(name),
      ...(embedder === "" ? {} : { embedder }),
    };
    const { body } = await call<Schemas["Project"]>("projects", { method: "POST", json });
    navigate(hrefOf(["projects", body.slug, "files"]));
  });
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form action={create} submit="Create project">
        <TextField label="Name" required value={name} onInput={setName} />
        <TextField
          label="Slug"
          hint="Its name in addresses."
          required
          value={slug ?? slugOf(name)}
          onInput={setSlug}
        />
        <EmbedderSelect optional value={embedder} onChange={setEmbedder} />
      </Form>
    </Dialog>
  );
}
