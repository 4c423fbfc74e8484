import styles from './people/people.module.css';

/** Names beside each other, as they are. */
export function NameList({ names }: { readonly names: readonly string[] }) {
  return (
    <ul className={styles['chips']}>
      {names.map((name) => (
        <li key={name}>
          <code dir="auto">{name}</code>
        </li>
      ))}
    </ul>
  );
}
