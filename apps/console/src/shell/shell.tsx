import { useIsFetching, useIsMutating } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { usePreload } from '../components/resources/use-preload.ts';
import { responseStalenessStore } from '../api/call.ts';
import { pendingSignInOffer } from '../api/pending-sign-in.ts';
import { useMayAdministrate } from '../api/permissions.ts';
import { useMe } from '../api/queries-and-mutations.ts';
import { signOut } from '../api/sign-in.ts';
import { basePath } from '../base-path.ts';
import { proposalQuestion } from '../changes/proposal-question-store.ts';
import { IconButton } from '../components/buttons/button.tsx';
import { Menu } from '../components/buttons/menu.tsx';
import { Icon } from '../components/content/icon.tsx';
import { Loading } from '../components/content/query-result.tsx';
import icon from '../icon.svg';
import { useStore } from '../store.ts';
import { formatCount } from '../text/format-number.ts';
import { navigationPages } from './navigation.ts';
import { runShortcut, usePageActions } from './page-actions.ts';
import styles from './shell.module.css';
import { chooseTheme, themes, themeStore } from './theme.ts';
import { Toasts } from './toasts.tsx';
import { lazyPart } from '../components/content/lazy-part.tsx';

const texts = {
  theme: { system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' },
} as const;

function UserMenu() {
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
}

function loadPalette() {
  return import('./command-palette.tsx');
}
const CommandPalette = lazyPart(() => loadPalette().then(({ CommandPalette }) => CommandPalette));

const KeyboardHelp = lazyPart(() => import('./keyboard-help.tsx').then(({ KeyboardHelp }) => KeyboardHelp));

const ReviewCount = lazyPart(() =>
  import('../pages/change-requests/review-count.tsx').then(({ ReviewCount }) => ReviewCount),
);

const InboxBell = lazyPart(() => import('../pages/inbox/inbox-bell.tsx').then(({ InboxBell }) => InboxBell));

const ProposalQuestion = lazyPart(() =>
  import('../changes/proposal-question.tsx').then(({ ProposalQuestion }) => ProposalQuestion),
);

const SignInDialog = lazyPart(() =>
  import('../pages/sign-in/sign-in-dialog.tsx').then(({ SignInDialog }) => SignInDialog),
);

function subscribeToNetworkState(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

function Banners() {
  const stalenessMs = useStore(responseStalenessStore);
  const isOnline = useSyncExternalStore(subscribeToNetworkState, () => navigator.onLine);
  return (
    <div role="status">
      {!isOnline && (
        <p className={styles['banner']}>There is no network. What you see may be old, and changes cannot be saved.</p>
      )}
      {isOnline && stalenessMs > 0 && (
        <p className={styles['banner']}>
          What you see may be {formatCount(Math.max(1, Math.round(stalenessMs / 1000)), 'second')} old: Bunting is
          catching up.
        </p>
      )}
    </div>
  );
}

function Progress() {
  const isWorking = useIsFetching() + useIsMutating() > 0;
  return isWorking ? <div role="progressbar" aria-label="Loading" className={styles['progress']} /> : null;
}

function Navigation({ isOpen }: { readonly isOpen: boolean }) {
  const mayAdministrate = useMayAdministrate();
  // A change request and a flag have addresses below their project, and belong to lists of their own.
  const part = /^\/projects\/[^/]+\/(change-requests|features)\//.exec(useLocation().pathname)?.[1];
  const list = part === 'features' ? '/flags' : part === undefined ? undefined : '/change-requests';
  return (
    <nav aria-label="Main" className={styles['side']} data-open={isOpen || undefined} id="navigation">
      <ul>
        {navigationPages
          .filter(({ to }) => to !== '/admin' || mayAdministrate)
          .map(({ to, label, icon: name }) => (
            <li key={to}>
              <Link
                to={to}
                className={styles['destination'] ?? ''}
                activeOptions={{ exact: list !== undefined || to === '/' }}
                {...(to === list && { 'aria-current': 'page' as const })}
              >
                <Icon name={name} />
                {label}
                {to === '/change-requests' && (
                  <Suspense>
                    <ReviewCount />
                  </Suspense>
                )}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}

/** Whoever has neither pointed nor pressed a key yet has removed nothing. */
async function keepFocus(): Promise<void> {
  const { keepFocusInPlace } = await import('../components/dialogs/focus-place.ts');
  keepFocusInPlace();
}

/** The console for who is signed in. */
export function Shell() {
  usePreload(keepFocus);
  const { isPending } = useMe();
  const offer = useStore(pendingSignInOffer);
  if (!isPending) return <Frame />;
  return offer === undefined ? (
    <Loading />
  ) : (
    <Suspense>
      <SignInDialog offer={offer} />
    </Suspense>
  );
}

/** The frame around every page: navigation, search, notifications, and the sign-in form when a session has ended. */
function Frame() {
  const [overlay, setOverlay] = useState<'palette' | 'keys' | undefined>();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  const offer = useStore(pendingSignInOffer);
  const isAsked = useStore(proposalQuestion) !== undefined;
  const close = (): void => setOverlay(undefined);

  usePageActions([
    { id: 'shell.help', title: 'Show this list', key: '?', run: () => setOverlay('keys') },
    { id: 'shell.api', title: 'API documentation', run: () => location.assign(`${basePath}/docs`) },
  ]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setOverlay('palette');
      } else if (event.key === 'Control' || event.key === 'Meta') void loadPalette();
      else runShortcut(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  // On a narrow screen the open menu would cover the page that was chosen from it.
  const [shownPath, setShownPath] = useState(pathname);
  if (shownPath !== pathname) {
    setShownPath(pathname);
    setMenuOpen(false);
  }

  return (
    <div className={styles['shell']}>
      <a href="#main" className={styles['skip']}>
        Skip to the content
      </a>
      {offer === undefined && <Progress />}
      {/* In the corner where a pointer rests: it is no sign that somebody goes there. */}
      <Link to="/" preload={false} className={styles['brand'] ?? ''}>
        <img src={icon} alt="" />
        Bunting
      </Link>
      <header className={styles['bar']}>
        <span className={styles['menuButton']}>
          <IconButton
            icon="menu"
            label="Menu"
            aria-expanded={isMenuOpen}
            aria-controls="navigation"
            onPress={() => setMenuOpen(!isMenuOpen)}
          />
        </span>
        <button
          type="button"
          className={styles['searchButton']}
          onPointerEnter={() => void loadPalette()}
          onClick={() => setOverlay('palette')}
        >
          <Icon name="search" />
          <span>Search or jump to…</span>
          <kbd className={styles['kbd']}>Ctrl K</kbd>
        </button>
        <div className={styles['end']}>
          <IconButton icon="help" label="Keyboard shortcuts" onPress={() => setOverlay('keys')} />
          <Suspense>
            <InboxBell />
          </Suspense>
          <UserMenu />
        </div>
      </header>
      <Navigation isOpen={isMenuOpen} />
      <main id="main" tabIndex={-1} className={styles['main']}>
        <Banners />
        <Outlet />
      </main>
      <Toasts />
      <Suspense>
        {overlay === 'palette' && <CommandPalette onClose={close} />}
        {overlay === 'keys' && <KeyboardHelp onClose={close} />}
        {isAsked && <ProposalQuestion />}
        {offer !== undefined && <SignInDialog offer={offer} />}
      </Suspense>
    </div>
  );
}
