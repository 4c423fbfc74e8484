import type { IconName } from '../components/icon.tsx';
import { messages } from '../messages.ts';

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
}

/** The pages that the navigation and the palette offer, in their order. A page adds itself here and in `routes.tsx`. */
export const places: readonly Place[] = [
  { to: '/flags', label: messages.shell.flags, icon: 'flags' },
  { to: '/change-requests', label: messages.changeRequests.page, icon: 'changeRequest' },
];
