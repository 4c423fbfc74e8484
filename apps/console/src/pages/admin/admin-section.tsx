import { Link } from '@tanstack/react-router';
import { Page } from '../../components/layout/page.tsx';
import { administrationMessages as text } from '../../messages/administration/sections.ts';
import { adminSections } from './sections.ts';
import styles from './admin.module.css';

type SectionId = (typeof adminSections)[number]['id'];

interface AdminSectionProps {
  readonly id: SectionId;
  /** of one thing of the section; the section's name when left out */
  readonly title?: string;
  readonly marks?: React.ReactNode;
  readonly actions?: React.ReactNode;
  readonly children: React.ReactNode;
}

/** A page of administration, with its breadcrumbs above the title. */
export const AdminSection = ({ id, title, ...props }: AdminSectionProps) => {
  const section = adminSections.find((one) => one.id === id);
  const label = section?.label ?? id;
  return (
    <Page
      {...props}
      title={title ?? label}
      crumbs={[
        <Link key="all" to="/admin">
          {text.title}
        </Link>,
        ...(title === undefined
          ? []
          : [
              <Link key="section" to="/admin/$section" params={{ section: id }}>
                {label}
              </Link>,
            ]),
      ]}
    >
      {title === undefined && section !== undefined && <p className={styles['about']}>{section.about}</p>}
      {props.children}
    </Page>
  );
};
