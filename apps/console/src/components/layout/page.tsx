import { useEffect } from 'react';
import { sharedMessages } from '../../messages/shared.ts';
import styles from '../content/content.module.css';

interface PageProps {
  readonly title: string;
  /** links to what the page belongs to, outermost first */
  readonly crumbs?: readonly React.ReactNode[];
  /** beside the title: badges */
  readonly marks?: React.ReactNode;
  readonly actions?: React.ReactNode;
  readonly children: React.ReactNode;
  /** the page is as high as the window and scrolls inside */
  readonly fillsWindow?: boolean;
}

/** A page with its title, which is also the title of the browser's window. */
export const Page = ({ title, crumbs = [], marks, actions, children, fillsWindow = false }: PageProps) => {
  useEffect(() => {
    document.title = `${title} · ${sharedMessages.product}`;
  }, [title]);
  return (
    <div className={`${styles['page']} ${fillsWindow ? styles['fill'] : ''}`}>
      <header className={styles['head']}>
        <div>
          {crumbs.length > 0 && (
            <nav aria-label={sharedMessages.common.breadcrumbs} className={styles['crumbs']}>
              <ol>
                {crumbs.map((crumb, index) => (
                  <li key={index}>{crumb}</li>
                ))}
              </ol>
            </nav>
          )}
          <div className={styles['actions']}>
            <h1>{title}</h1>
            {marks}
          </div>
        </div>
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  );
};
