import { useRef } from 'react';
import { Button } from '../../components/buttons/button.tsx';
import { notify } from '../../shell/toasts.tsx';
import { valuesOfText } from './strategy-inputs.ts';
import { formatCount } from '../../text/format-number.ts';

/** The maximum size of a file in bytes, which is far more than a constraint may hold. */
const maxBytes = 5_000_000;

/** A button that reads values from a text file: one on each line, or separated by commas. */
export function ImportValues({ onImport }: { readonly onImport: (values: readonly string[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > maxBytes) {
      notify(`${file.name} is larger than 5 MB.`);
      return;
    }
    const values = valuesOfText(await file.text()).filter((value) => value !== '');
    onImport(values);
    notify(`${formatCount(values.length, 'value')} of ${file.name} ${values.length === 1 ? 'is' : 'are'} in the list.`);
  };
  return (
    <div>
      <Button size="small" onPress={() => input.current?.click()}>
        Add the values of a file
      </Button>
      <input
        ref={input}
        type="file"
        accept=".txt,.csv,text/plain,text/csv"
        hidden
        aria-label="Add the values of a file"
        onChange={({ target }) => {
          void read(target.files?.[0]);
          target.value = '';
        }}
      />
    </div>
  );
}
