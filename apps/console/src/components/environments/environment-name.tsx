import styles from './environments.module.css';

interface EnvironmentNameProps {
  readonly name: string;
  readonly type?: string | undefined;
}

/** The name of an environment. One of the type production has a mark before it, and the word where its name does not say it. */
export function EnvironmentName({ name, type }: EnvironmentNameProps) {
  if (type !== 'production') return <bdi>{name}</bdi>;
  return (
    <span className={styles['production']} title={`${name}: production`}>
      <bdi>{name}</bdi>
      {!name.toLowerCase().includes('prod') && <span className={styles['word']}>production</span>}
    </span>
  );
}
