import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { readVisitor, type Visitor } from './api/sign-in.ts';
import { pathOfPage } from './base-path.ts';
import { SignInPage } from './pages/sign-in/sign-in-form.tsx';
import { applyStoredTheme } from './shell/theme.ts';
import { pathsForVisitors } from './shell/visitor-paths.ts';
import { keepText, keptText } from './store.ts';
import './styles/base.css';

// A visitor without a session gets the sign-in form alone. The console is loaded for who is signed in; at once where somebody was signed in
// when this browser last opened it.

const root = createRoot(document.getElementById('root') as HTMLElement);
const sessionHint = 'bunting.signedIn';

async function showConsole(me: Extract<Visitor, { me: unknown }>['me'] | undefined): Promise<void> {
  try {
    const { Console } = await import('./console.tsx');
    root.render(
      <StrictMode>
        <Console me={me} />
      </StrictMode>,
    );
  } catch {
    root.render(<p role="alert">The console could not be loaded. Load this page again.</p>);
  }
}

async function start(): Promise<void> {
  if (pathsForVisitors.has(pathOfPage())) return showConsole(undefined);
  if (keptText(sessionHint) === 'yes') import('./console.tsx').catch(() => undefined);
  // Without an answer the console asks again, and says what is wrong.
  const visitor = await readVisitor().catch(() => undefined);
  if (visitor === undefined) return showConsole(undefined);
  keepText(sessionHint, 'me' in visitor ? 'yes' : 'no');
  if ('me' in visitor) return showConsole(visitor.me);
  return root.render(<SignInPage offer={visitor.offer} onSignedIn={showConsole} />);
}

applyStoredTheme();
void start();
