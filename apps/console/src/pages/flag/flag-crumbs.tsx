import { Link } from '@tanstack/react-router';
import { ProjectName } from '../../components/content/project-name.tsx';

/** The links above the page of a flag, and above the pages below it. */
export function flagCrumbs(project: string): readonly React.ReactNode[] {
  return [
    <Link key="flags" to="/flags" activeOptions={{ exact: true }}>
      Flags
    </Link>,
    <Link key="project" to="/projects/$project/flags" params={{ project }} activeOptions={{ exact: true }}>
      <ProjectName id={project} />
    </Link>,
  ];
}
