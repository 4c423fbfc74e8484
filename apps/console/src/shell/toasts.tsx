import type { Event } from '@bunting/contracts';
import { useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { takeLastWrite, type Write } from '../api/last-write.ts';
import { basePath } from '../base-path.ts';
import { createStore, useStore } from '../store.ts';
import { IconButton } from '../components/buttons/button.tsx';
import { Icon } from '../components/content/icon.tsx';
import { explainError } from '../text/explain-error.ts';
import styles from './shell.module.css';
import { lazyPart } from '../components/content/lazy-part.tsx';

const WriteActions = lazyPart(() => import('./write-actions.tsx').then(({ WriteActions }) => WriteActions));
const UndoDialog = lazyPart(() => import('../pages/events/undo-dialog.tsx').then(({ UndoDialog }) => UndoDialog));

/** Where a message leads. */
interface ToastLink {
  readonly label: string;
  readonly href: string;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly link?: ToastLink | undefined;
  /** the write of which it says that it has succeeded */
  readonly write?: Write | undefined;
  readonly isError: boolean;
}

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;
/** Milliseconds for which a toast stays, unless the pointer or the focus is on it; an error stays until it is closed. */
const toastDurationMs = 8_000;

function addToast(toast: Omit<Toast, 'id'>): void {
  return toasts.set((shown) => [...shown.slice(-3), { ...toast, id: (lastId += 1) }]);
}

function removeToast(id: number): void {
  return toasts.set((shown) => shown.filter((toast) => toast.id !== id));
}

/**
 * Shows a message in the corner, announces it to screen readers, and hides it after a while. After a write that can be undone it offers
 * that, and the page of what was written.
 */
export function notify(text: string, link?: ToastLink): void {
  return addToast({ text, isError: false, link, write: takeLastWrite() });
}
/** Shows an error until the user closes it. */
export function notifyError(error: unknown): void {
  return addToast({ text: explainError(error), isError: true });
}

interface ToastAnchorProps extends ToastLink {
  readonly onFollow: () => void;
}

/** A link that is followed within the page. */
export function ToastAnchor({ label, href, onFollow }: ToastAnchorProps) {
  const navigate = useNavigate();
  return (
    <a
      href={`${basePath}${href}`}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onFollow();
        void navigate({ href });
      }}
    >
      {label}
    </a>
  );
}

interface ToastViewProps {
  readonly toast: Toast;
  readonly onUndo: (events: readonly Event[]) => void;
}

function ToastView({ toast: { id, text, isError, link, write }, onUndo }: ToastViewProps) {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isHeld = isPointed || isFocused;
  const item = useRef<HTMLLIElement>(null);
  // It does not go while somebody is about to use it.
  useEffect(() => {
    const listened = new AbortController();
    const { signal } = listened;
    for (const [type, set, held] of [
      ['pointerenter', setPointed, true],
      ['pointerleave', setPointed, false],
      ['focusin', setFocused, true],
      ['focusout', setFocused, false],
    ] as const)
      item.current?.addEventListener(type, () => set(held), { signal });
    return () => listened.abort();
  }, []);
  useEffect(() => {
    if (isError || isHeld) return undefined;
    const timer = setTimeout(() => removeToast(id), toastDurationMs);
    return () => clearTimeout(timer);
  }, [id, isError, isHeld]);
  const close = (): void => removeToast(id);
  return (
    <li ref={item} className={`${styles['toast']} ${isError ? styles['toastError'] : ''}`}>
      <Icon name={isError ? 'warning' : 'check'} />
      <span>{text}</span>
      {link !== undefined && <ToastAnchor {...link} onFollow={close} />}
      {write !== undefined && (
        <Suspense>
          <WriteActions
            write={write}
            hasLink={link !== undefined}
            onClose={close}
            onUndo={(events) => {
              close();
              onUndo(events);
            }}
          />
        </Suspense>
      )}
      <IconButton icon="close" size="small" label="Close" onPress={close} />
    </li>
  );
}

/** The corner where toasts appear. It is rendered before the first toast, so that screen readers announce each one. */
export function Toasts() {
  const shown = useStore(toasts);
  // The acts of one message are undone one after the other, the newest first.
  const [[undone, ...others], setUndone] = useState<readonly Event[]>([]);
  return (
    <>
      <div role="status" aria-label="Notifications" className={styles['toasts']}>
        <ul>
          {shown.map((toast) => (
            <ToastView key={toast.id} toast={toast} onUndo={setUndone} />
          ))}
        </ul>
      </div>
      {undone !== undefined && (
        <Suspense>
          <UndoDialog key={undone.id} event={undone} onClose={() => setUndone([])} onUndone={() => setUndone(others)} />
        </Suspense>
      )}
    </>
  );
}
