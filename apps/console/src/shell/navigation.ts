import type { IconName } from '../components/buttons/icon.tsx';
import { messages } from '../messages/shared.ts';

interface Destination {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
}

/** The pages that the navigation and the palette offer, in their order. A page adds itself here and in `routes.tsx`. */
export const navigationPages: readonly Destination[] = [
  { to: '/flags', label: messages.shell.flags, icon: 'flags' },
  { to: '/change-requests', label: messages.shell.changeRequests, icon: 'changeRequest' },
  { to: '/projects', label: messages.shell.projects, icon: 'projects' },
  { to: '/playground', label: messages.shell.playground, icon: 'playground' },
  { to: '/events', label: messages.shell.events, icon: 'events' },
  { to: '/cleanup', label: messages.shell.cleanup, icon: 'cleanup' },
  { to: '/admin', label: messages.shell.administration, icon: 'administration' },
];
