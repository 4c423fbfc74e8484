import styles from './projects.module.css';

/** The share of flags that are not stale, as digits and as a bar. */
export const ProjectHealth = ({ percent }: { readonly percent: number | undefined }) =>
  percent === undefined ? null : (
    <span className={styles['health']} title="The share of flags that are not stale">
      <span className={styles['meter']} data-low={percent < 50 || undefined} aria-hidden="true">
        <span style={{ inlineSize: `${percent}%` }} />
      </span>
      {percent} %
    </span>
  );
