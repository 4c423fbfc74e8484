import { useEnvironments } from '../../api/queries-and-mutations.ts';
import styles from './environments.module.css';

interface EnvironmentNameProps {
  readonly name: string;
  /** the type, where the page knows it already */
  readonly type?: string | undefined;
}

/** What marks an environment: whether it is production, and the name of its colour. Production is orange where no colour was chosen. */
export function useEnvironmentMark({ name, type }: EnvironmentNameProps) {
  const known = useEnvironments().data?.environments.find((one) => one.name === name);
  const isProduction = (type ?? known?.type) === 'production';
  return { isProduction, color: known?.color ?? (isProduction ? 'orange' : undefined) };
}

/**
 * The name of an environment with its colour. One of the type production has a square mark where others have a round one, and the word
 * where its name does not say it.
 */
export function EnvironmentName({ name, type }: EnvironmentNameProps) {
  const { isProduction, color } = useEnvironmentMark({ name, type });
  if (color === undefined) return <bdi>{name}</bdi>;
  return (
    <span
      className={styles['marked']}
      data-environment-color={color}
      data-production={isProduction || undefined}
      title={isProduction ? `${name}: production` : name}
    >
      <bdi>{name}</bdi>
      {isProduction && !name.toLowerCase().includes('prod') && <span className={styles['word']}>production</span>}
    </span>
  );
}
