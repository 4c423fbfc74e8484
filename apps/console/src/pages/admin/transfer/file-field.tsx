import { useId } from 'react';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

interface FileFieldProps {
  readonly label: string;
  readonly hint: string;
  /** called with the content of the chosen file */
  readonly onText: (value: string) => void;
}

/** A field for a file of text. */
export function FileField({ label, hint, onText }: FileFieldProps) {
  const id = useId();
  return (
    <div className={styles['file']}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept=".json,application/json"
        aria-describedby={`${id}-hint`}
        // A file that was corrected is chosen again by its name, which is otherwise no change.
        onClick={({ currentTarget }) => {
          currentTarget.value = '';
        }}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) void file.text().then(onText);
        }}
      />
      <span id={`${id}-hint`} className={layout['small']}>
        {hint}
      </span>
    </div>
  );
}
