import { useId } from 'react';
import styles from './and-more.module.css';

interface AndMoreProps {
  readonly names: readonly string[];
  /** how one of them is shown in the list */
  readonly children?: (name: string) => React.ReactNode;
}

/** How many other names there are, which are listed on a press, and on hover: for the cell of a table, which has room for the first one. */
export function AndMore({ names, children = (name) => <bdi>{name}</bdi> }: AndMoreProps) {
  const id = useId();
  if (names.length === 0) return null;
  return (
    <span className={styles['more']}>
      <button type="button" popoverTarget={id} className={styles['button']} title={names.join(', ')}>
        and {names.length} more
      </button>
      <ul id={id} popover="auto" className={styles['names']}>
        {names.map((name) => (
          <li key={name}>{children(name)}</li>
        ))}
      </ul>
    </span>
  );
}
