import { useEffect, useRef } from 'react';
import { createStore } from '../store.ts';

/** Something that the user can do on a page or in a dialog: the command palette lists it, and its key runs it. */
interface PageAction {
  readonly id: string;
  readonly title: string;
  /** the shortcut, as in `KeyboardEvent.key`: `j`, `/`, `?`, `Enter`; or `Ctrl Enter` and `Ctrl Shift Enter`, also while the user types */
  readonly key?: string;
  /** not listed in the palette, because it is of use only by its key, such as a step to the next row */
  readonly isShortcutOnly?: boolean;
  readonly run: () => void;
}

/** The actions of the pages and dialogs on the screen, the last registered first. */
export const registeredPageActions = createStore<readonly (readonly PageAction[])[]>([]);

/** Registers actions while the component is on the screen. */
export function usePageActions(actions: readonly PageAction[]): void {
  const latestActions = useRef(actions);
  useEffect(() => {
    latestActions.current = actions;
  });
  const registeredFields = actions
    .map(({ id, title, key, isShortcutOnly }) => [id, title, key, isShortcutOnly].join('\n'))
    .join('\n\n');
  useEffect(() => {
    const registered = latestActions.current.map((action) => ({
      ...action,
      // Runs the `run` of the latest render, also when the registered fields have not changed since.
      run: () => latestActions.current.find(({ id }) => id === action.id)?.run(),
    }));
    registeredPageActions.set((all) => [registered, ...all]);
    return () => registeredPageActions.set((all) => all.filter((other) => other !== registered));
  }, [registeredFields]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest('input:not([type=checkbox]):not([type=radio]), textarea, select') !== null)
  );
}

/** Whether an element is a control that handles Enter and the space bar itself. */
function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('a, button, input, [role=menuitem], [role=option], [role=tab]') !== null
  );
}

/** Presses the button that saves the form that has the focus. @returns whether there is one that can be pressed */
function submitForm(target: EventTarget | null): boolean {
  const form = target instanceof HTMLElement ? target.closest('form') : null;
  const button = form?.querySelector<HTMLButtonElement>('button[type=submit]:not(:disabled)');
  button?.click();
  return button != null;
}

/** What Enter does together with Ctrl, or the command key: it saves from any field. */
function runWithControl(event: KeyboardEvent): void {
  if (event.key !== 'Enter') return;
  if (!event.shiftKey && submitForm(event.target)) return event.preventDefault();
  if (document.querySelector('[role=dialog], [role=alertdialog]') !== null) return;
  const name = event.shiftKey ? 'Ctrl Shift Enter' : 'Ctrl Enter';
  const action = registeredPageActions
    .get()
    .flat()
    .find(({ key }) => key === name);
  if (action === undefined) return;
  event.preventDefault();
  action.run();
}

/** Runs the action of a key, unless the user is typing or a dialog is open. */
export function runShortcut(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  if (event.ctrlKey || event.metaKey) return runWithControl(event);
  if (isTyping(event.target) || document.querySelector('[role=dialog], [role=alertdialog]') !== null) return;
  if ((event.key === 'Enter' || event.key === ' ') && isControl(event.target)) return;
  const action = registeredPageActions
    .get()
    .flat()
    .find(({ key }) => key === event.key);
  if (action === undefined) return;
  event.preventDefault();
  action.run();
}
