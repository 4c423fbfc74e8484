import { useEffect, useRef } from 'react';
import { isolated } from '../../text/isolated.ts';
import styles from '../content/content.module.css';

interface PageProps {
  readonly title: string;
  /** links to the pages above this one, the outermost first */
  readonly crumbs?: readonly React.ReactNode[];
  /** badges or a link, shown beside the title */
  readonly titleExtras?: React.ReactNode;
  /** what the page is about, below its title */
  readonly description?: string;
  readonly actions?: React.ReactNode;
  readonly children: React.ReactNode;
  /** whether the page is as high as the window, and its content scrolls inside of it */
  readonly fillsWindow?: boolean;
}

let hasShownPage = false;

/** The frame of one page. Its title is also the title of the browser's window. */
export function Page({
  title,
  crumbs = [],
  titleExtras,
  description,
  actions,
  children,
  fillsWindow = false,
}: PageProps) {
  useEffect(() => {
    document.title = `${isolated(title)} · Bunting`;
  }, [title]);
  // A page that was left takes the focus with it: the next one begins at its title. The first one begins with the document.
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasShownPage && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
    hasShownPage = true;
  }, []);
  return (
    <div className={`${styles['page']} ${fillsWindow ? styles['fill'] : ''}`}>
      <header className={styles['head']}>
        <div>
          {crumbs.length > 0 && (
            <nav aria-label="Where this page belongs" className={styles['crumbs']}>
              <ol>
                {crumbs.map((crumb, index) => (
                  <li key={index}>{crumb}</li>
                ))}
              </ol>
            </nav>
          )}
          <div className={styles['actions']}>
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {titleExtras}
          </div>
        </div>
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {description !== undefined && <p className={styles['description']}>{description}</p>}
      {children}
    </div>
  );
}
