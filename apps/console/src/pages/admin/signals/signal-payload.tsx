import { TextField } from '../../../components/forms/fields.tsx';

/** The JSON of a signal, which is shown when it is opened. */
export function SignalPayload({ payload }: { readonly payload: unknown }) {
  const text = JSON.stringify(payload, null, 2);
  return (
    <details>
      <summary>
        <span>{JSON.stringify(payload).slice(0, 60)}</span>
      </summary>
      <TextField
        label="JSON"
        isReadOnly
        rows={Math.min(16, text.split('\n').length)}
        value={text}
        onChange={() => undefined}
      />
    </details>
  );
}
