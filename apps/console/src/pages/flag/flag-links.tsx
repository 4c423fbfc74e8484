import type { Feature } from '@bunting/contracts';
import styles from './flag.module.css';

/** Whether a URL may become a link. Only HTTP URLs may; others, such as `javascript:`, are shown as text. */
const isHttpUrl = (url: string): boolean => /^https?:\/\//i.test(url);

/** The links of a flag to other systems, such as its ticket. */
export const FlagLinks = ({ feature: { links = [] } }: { readonly feature: Feature }) =>
  links.length === 0 ? null : (
    <section className={styles['section']}>
      <h3>Links</h3>
      <ul className={styles['links']}>
        {links.map(({ id, url, title }) => {
          const label = title == null || title === '' ? url : title;
          return (
            <li key={id} dir="auto">
              {isHttpUrl(url) ? (
                <a href={url} rel="noopener noreferrer" target="_blank" title={url}>
                  {label}
                </a>
              ) : (
                label
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
