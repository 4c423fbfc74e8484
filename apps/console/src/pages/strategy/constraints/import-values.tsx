import { useRef } from 'react';
import { Button } from '../../../components/buttons/button.tsx';
import { strategyMessages } from '../../../messages/strategy.ts';
import { notify } from '../../../shell/toasts.tsx';
import { valuesOfText } from './constraint-values.ts';

/** The maximum size of a file in bytes, which is far more than a constraint may hold. */
const maxBytes = 5_000_000;

/** A button that reads values from a text file: one on each line, or separated by commas. */
export const ImportValues = ({ onImport }: { readonly onImport: (values: readonly string[]) => void }) => {
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > maxBytes) {
      notify(strategyMessages.importTooLarge(file.name));
      return;
    }
    const values = valuesOfText(await file.text()).filter((value) => value !== '');
    onImport(values);
    notify(strategyMessages.imported(values.length, file.name));
  };
  return (
    <div>
      <Button size="small" onPress={() => input.current?.click()}>
        {strategyMessages.importValues}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".txt,.csv,text/plain,text/csv"
        hidden
        aria-label={strategyMessages.importValues}
        onChange={({ target }) => {
          void read(target.files?.[0]);
          target.value = '';
        }}
      />
    </div>
  );
};
