import type { AnyOperation } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { Page } from '../../components/layout/page.tsx';
import { Catalogue, type CatalogueProps } from '../../components/resources/catalogue.tsx';
import { adminPages } from './admin-pages.ts';

type AdminPageId = (typeof adminPages)[number]['id'];

interface AdminPageProps {
  readonly id: AdminPageId;
  /** the name of one thing of the page, such as of a segment; without it, the label of the page is the title */
  readonly title?: string;
  readonly actions?: React.ReactNode;
  readonly children: React.ReactNode;
}

/** The links above a page of administration: above one of its things, also the link to that page. */
export function adminCrumbs(id: AdminPageId, isOfThing: boolean): readonly React.ReactNode[] {
  return [
    <Link key="all" to="/admin" activeOptions={{ exact: true }}>
      Administration
    </Link>,
    ...(isOfThing
      ? [
          <Link key="section" to="/admin/$section" params={{ section: id }} activeOptions={{ exact: true }}>
            {adminPages.find((candidate) => candidate.id === id)?.label ?? id}
          </Link>,
        ]
      : []),
  ];
}

/** The frame of a page of administration: breadcrumbs, title and, on the page of all things, its description. */
export function AdminPage({ id, title, ...props }: AdminPageProps) {
  const page = adminPages.find((candidate) => candidate.id === id);
  return (
    <Page
      {...props}
      title={title ?? page?.label ?? id}
      {...(title === undefined && page !== undefined && { description: page.description })}
      crumbs={adminCrumbs(id, title !== undefined)}
    ></Page>
  );
}

interface AdminCatalogueProps<T, C extends AnyOperation, E extends AnyOperation, R extends AnyOperation>
  extends Omit<CatalogueProps<T, C, E, R>, 'frame'>, Pick<AdminPageProps, 'id' | 'title'> {
  /** further buttons, before the one that creates */
  readonly buttons?: React.ReactNode;
  readonly above?: React.ReactNode;
  readonly below?: React.ReactNode;
}

/** A page of administration for the things of one kind. */
export function AdminCatalogue<T, C extends AnyOperation, E extends AnyOperation, R extends AnyOperation>({
  id,
  title,
  buttons,
  above,
  below,
  ...catalogue
}: AdminCatalogueProps<T, C, E, R>) {
  return (
    <Catalogue
      {...catalogue}
      frame={(createButton, content) => (
        <AdminPage
          id={id}
          {...(title !== undefined && { title })}
          actions={
            <>
              {buttons}
              {createButton}
            </>
          }
        >
          {above}
          {content}
          {below}
        </AdminPage>
      )}
    />
  );
}
