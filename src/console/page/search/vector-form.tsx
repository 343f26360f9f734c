import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { changeParams } from "../base/router.ts";
import { Field, Form } from "../parts/form.tsx";
import { OTHER_QUESTION } from "./question.ts";
import { parseVector } from "./vector.ts";

/** A form for a vector that was computed elsewhere. */
export function VectorForm({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState("");
  const action = useAction(async () => {
    changeParams({ ...OTHER_QUESTION, q: "", vector: parseVector(text) });
    onDone();
  });
  return (
    <Form action={action} submit="Search by vector">
      <Field label="Vector" hint="A JSON array, the body of a search, or base64 of float32.">
        <textarea
          spellcheck={false}
          placeholder="[0.1, 0.2, ...]"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
    </Form>
  );
}
