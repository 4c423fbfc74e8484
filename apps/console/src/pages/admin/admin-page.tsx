import { Link, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { EmptyState, Loading } from '../../components/content/content.tsx';
import { Page } from '../../components/layout/page.tsx';
import { administrationMessages as text } from '../../messages/administration/sections.ts';
import { adminSectionGroups, adminSections } from './sections.ts';
import styles from './admin.module.css';

const Index = ({ isUnknown }: { readonly isUnknown: boolean }) => (
  <Page title={text.title}>
    {isUnknown && <EmptyState title={text.unknown}>{text.unknownHelp}</EmptyState>}
    {adminSectionGroups.map(({ id, label, sections: pages }) => (
      <section key={id} aria-labelledby={`group-${id}`} className={styles['group']}>
        <h2 id={`group-${id}`}>{label}</h2>
        <ul className={styles['cards']}>
          {pages.map((page) => (
            <li key={page.id}>
              <Link to="/admin/$section" params={{ section: page.id }} className={styles['card'] ?? ''}>
                <strong>{page.label}</strong>
                <span>{page.about}</span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </Page>
);

const Navigation = () => (
  <nav aria-label={text.navigation} className={styles['navigation']}>
    {adminSectionGroups.map(({ id, label, sections: pages }) => (
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

/** The pages of administration with their navigation beside them; `/admin` itself lists them. */
export const AdminPage = () => {
  const { section: id } = useParams({ strict: false }) as { readonly section?: string };
  const section = adminSections.find((one) => one.id === id);
  if (section === undefined) return <Index isUnknown={id !== undefined} />;
  const { component: Section } = section;
  return (
    <div className={styles['layout']}>
      <Navigation />
      <div className={styles['content']}>
        <Suspense fallback={<Loading />}>
          <Section />
        </Suspense>
      </div>
    </div>
  );
};
