import { useNavigate } from '@tanstack/react-router';
import { useMe } from '../api/queries-and-mutations.ts';
import { signOut } from '../api/sign-in.ts';
import { useStore } from '../store.ts';
import { IconButton } from '../components/buttons/button.tsx';
import { Menu } from '../components/buttons/menu.tsx';
import { sharedMessages } from '../messages/shared.ts';
import { chooseTheme, themes, themeStore } from './theme.ts';

export const UserMenu = () => {
  const navigate = useNavigate();
  const { data } = useMe();
  const chosen = useStore(themeStore);
  const user = data?.user;
  const name = user?.name ?? user?.username ?? user?.email ?? undefined;
  return (
    <Menu
      label={sharedMessages.shell.account}
      entries={[
        {
          id: 'profile',
          label: name === undefined ? sharedMessages.shell.profile : sharedMessages.shell.signedInAs(name),
          icon: 'user',
          run: () => void navigate({ href: '/profile' }),
        },
        ...themes.map((option) => ({
          id: option,
          label: sharedMessages.shell.theme[option],
          ...(option === chosen ? { icon: 'check' as const } : {}),
          run: () => chooseTheme(option),
        })),
        { id: 'sign-out', label: sharedMessages.shell.signOut, run: signOut },
      ]}
    >
      <IconButton icon="user" label={sharedMessages.shell.account} />
    </Menu>
  );
};
