import { useNavigate } from '@tanstack/react-router';
import { useMe } from '../api/queries-and-mutations.ts';
import { signOut } from '../api/sign-in.ts';
import { useStore } from '../store.ts';
import { IconButton } from '../components/buttons/button.tsx';
import { Menu } from '../components/buttons/menu.tsx';
import { chooseTheme, themes, themeStore } from './theme.ts';

const texts = {
  theme: { system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' },
} as const;

export const UserMenu = () => {
  const navigate = useNavigate();
  const { data } = useMe();
  const chosen = useStore(themeStore);
  const user = data?.user;
  const name = user?.name ?? user?.username ?? user?.email ?? undefined;
  return (
    <Menu
      label="Account"
      entries={[
        {
          id: 'profile',
          label: name === undefined ? 'Profile' : `Signed in as ${name}`,
          icon: 'user',
          run: () => void navigate({ href: '/profile' }),
        },
        ...themes.map((option) => ({
          id: option,
          label: texts.theme[option],
          ...(option === chosen ? { icon: 'check' as const } : {}),
          run: () => chooseTheme(option),
        })),
        { id: 'sign-out', label: 'Sign out', run: signOut },
      ]}
    >
      <IconButton icon="user" label="Account" />
    </Menu>
  );
};
