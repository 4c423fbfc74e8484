import { Dialog } from '../components/dialogs/dialog.tsx';
import { useStore } from '../store.ts';
import { registeredPageActions } from './page-actions.ts';
import styles from './shell.module.css';

function Keys({ title, keys }: { readonly title: string; readonly keys: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className={styles['keys']}>
        {keys.map(([key, action]) => (
          <div key={key}>
            <dt>
              <kbd className={styles['kbd']}>{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The keys of the page and of the console. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  const keys = useStore(registeredPageActions)
    .flat()
    .flatMap(({ key, title, id }) =>
      key === undefined || key === 'Ctrl Enter' || id.startsWith('shell.') ? [] : [[key, title] as const],
    );
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {keys.length > 0 && <Keys title="On this page" keys={keys} />}
      <Keys
        title="Everywhere"
        keys={[
          ['Ctrl K', 'Search or jump to…'],
          ['Ctrl Enter', 'Save what is entered'],
          ['?', 'Show this list'],
        ]}
      />
    </Dialog>
  );
}
