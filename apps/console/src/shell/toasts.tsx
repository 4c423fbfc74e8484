import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createStore, useStore } from '../store.ts';
import { IconButton } from '../components/buttons/button.tsx';
import { Icon } from '../components/content/icon.tsx';
import { explainError } from '../text/explain-error.ts';
import styles from './shell.module.css';

/** Where a message leads. */
interface ToastLink {
  readonly label: string;
  readonly href: string;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly link?: ToastLink | undefined;
  readonly isError: boolean;
}

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;
/** Milliseconds for which a toast stays; an error stays until it is closed. */
const toastDurationMs = 6_000;

function addToast(text: string, isError: boolean, link?: ToastLink): void {
  return toasts.set((shown) => [...shown.slice(-3), { id: (lastId += 1), text, isError, link }]);
}

function removeToast(id: number): void {
  return toasts.set((shown) => shown.filter((toast) => toast.id !== id));
}

/** Shows a message in the corner, announces it to screen readers, and hides it after a while. */
export function notify(text: string, link?: ToastLink): void {
  return addToast(text, false, link);
}
/** Shows an error until the user closes it. */
export function notifyError(error: unknown): void {
  return addToast(explainError(error), true);
}

function ToastView({ toast: { id, text, isError, link } }: { readonly toast: Toast }) {
  const navigate = useNavigate();
  useEffect(() => {
    if (isError) return undefined;
    const timer = setTimeout(() => removeToast(id), toastDurationMs);
    return () => clearTimeout(timer);
  }, [id, isError]);
  return (
    <li className={`${styles['toast']} ${isError ? styles['toastError'] : ''}`}>
      <Icon name={isError ? 'warning' : 'check'} />
      <span>{text}</span>
      {link !== undefined && (
        <a
          href={link.href}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            removeToast(id);
            void navigate({ href: link.href });
          }}
        >
          {link.label}
        </a>
      )}
      <IconButton icon="close" size="small" label="Close" onPress={() => removeToast(id)} />
    </li>
  );
}

/** The corner where toasts appear. It is rendered before the first toast, so that screen readers announce each one. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div role="status" aria-label="Notifications" className={styles['toasts']}>
      <ul>
        {shown.map((toast) => (
          <ToastView key={toast.id} toast={toast} />
        ))}
      </ul>
    </div>
  );
}
