import type { IconName } from '../components/content/icon.tsx';

interface Destination {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
}

/** The pages that the navigation and the palette offer, in their order. A page adds itself here and in `routes.tsx`. */
export const navigationPages: readonly Destination[] = [
  { to: '/', label: 'Home', icon: 'home' },
  { to: '/flags', label: 'Flags', icon: 'flags' },
  { to: '/change-requests', label: 'Change requests', icon: 'changeRequest' },
  { to: '/projects', label: 'Projects', icon: 'projects' },
  { to: '/playground', label: 'Playground', icon: 'playground' },
  { to: '/events', label: 'Event log', icon: 'events' },
  { to: '/cleanup', label: 'Cleanup', icon: 'cleanup' },
  { to: '/admin', label: 'Administration', icon: 'administration' },
];
