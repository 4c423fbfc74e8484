import type { Project } from '@bunting/contracts';
import { Badge } from '../../components/content/badge.tsx';

export const modeNames = { open: 'Open', protected: 'Protected', private: 'Private' } as const;

/** Who sees a project, beside its name; nothing where everybody does. */
export function ProjectModeBadge({ mode = 'open' }: Pick<Project, 'mode'>) {
  return mode === 'open' ? null : <Badge tone={mode === 'private' ? 'warning' : 'accent'}>{modeNames[mode]}</Badge>;
}
