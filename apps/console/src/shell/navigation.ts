import type { IconName } from '../components/content/icon.tsx';
import { sharedMessages } from '../messages/shared.ts';

interface Destination {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
}

/** The pages that the navigation and the palette offer, in their order. A page adds itself here and in `routes.tsx`. */
export const navigationPages: readonly Destination[] = [
  { to: '/flags', label: sharedMessages.shell.flags, icon: 'flags' },
  { to: '/change-requests', label: sharedMessages.shell.changeRequests, icon: 'changeRequest' },
  { to: '/projects', label: sharedMessages.shell.projects, icon: 'projects' },
  { to: '/playground', label: sharedMessages.shell.playground, icon: 'playground' },
  { to: '/events', label: sharedMessages.shell.events, icon: 'events' },
  { to: '/cleanup', label: sharedMessages.shell.cleanup, icon: 'cleanup' },
  { to: '/admin', label: sharedMessages.shell.administration, icon: 'administration' },
];
