import { Link, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useMaySomewhere } from '../../api/permissions.ts';
import { useMe } from '../../api/queries-and-mutations.ts';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { Page } from '../../components/layout/page.tsx';
import { missingPermission } from '../../text/permission-words.ts';
import { adminPageGroups, adminPages } from './admin-pages.ts';
import styles from './admin.module.css';

/** The groups of pages of administration, without the pages that are of no use to the user. */
function useAdminPageGroups() {
  const mayRead = useMaySomewhere();
  return adminPageGroups
    .map((group) => ({ ...group, pages: group.pages.filter(({ readers }) => mayRead(readers)) }))
    .filter(({ pages }) => pages.length > 0);
}

function Index({ isUnknown }: { readonly isUnknown: boolean }) {
  const groups = useAdminPageGroups();
  return (
    <Page title="Administration">
      {isUnknown && (
        <EmptyState title="There is no such page of administration">The address may be mistyped.</EmptyState>
      )}
      {groups.map(({ id, label, pages }) => (
        <section key={id} aria-labelledby={`group-${id}`} className={styles['group']}>
          <h2 id={`group-${id}`}>{label}</h2>
          <ul className={styles['cards']}>
            {pages.map((page) => (
              <li key={page.id}>
                <Link to="/admin/$section" params={{ section: page.id }} className={styles['card'] ?? ''}>
                  <strong>{page.label}</strong>
                  <span>{page.description}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Page>
  );
}

function Navigation() {
  const groups = useAdminPageGroups();
  return (
    <nav aria-label="Administration" className={styles['navigation']}>
      {groups.map(({ id, label, pages }) => (
        <div key={id}>
          <p>{label}</p>
          <ul>
            {pages.map((page) => (
              <li key={page.id}>
                <Link to="/admin/$section" params={{ section: page.id }}>
                  {page.label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** The pages of administration with their navigation beside them; `/admin` itself lists them. */
export function AdminLayout() {
  const { section: id } = useParams({ strict: false }) as { readonly section?: string };
  const page = adminPages.find((candidate) => candidate.id === id);
  const mayRead = useMaySomewhere();
  const isLoaded = useMe().data !== undefined;
  if (page === undefined) return <Index isUnknown={id !== undefined} />;
  const { component: AdminPage, readers } = page;
  if (isLoaded && !mayRead(page.readers))
    return (
      <Page title={page.label}>
        <p>You may not see this page: that takes {missingPermission(readers)}.</p>
      </Page>
    );
  return (
    <div className={styles['layout']}>
      <Navigation />
      <div className={styles['content']}>
        <Suspense fallback={<Loading />}>
          <AdminPage />
        </Suspense>
      </div>
    </div>
  );
}
