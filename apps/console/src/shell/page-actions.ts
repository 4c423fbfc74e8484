import { useEffect, useRef } from 'react';
import { createStore } from '../api/store.ts';

/** Something the user can do here: the palette lists it, and its key runs it. */
export interface PageAction {
  readonly id: string;
  readonly title: string;
  /** as `KeyboardEvent.key` says it: `j`, `/`, `?`, `Enter` */
  readonly key?: string;
  /** not in the palette: it makes sense as a key only */
  readonly isKeyOnly?: boolean;
  readonly run: () => void;
}

/** The actions of the pages and dialogs on the screen, the last registered first. */
export const registeredPageActions = createStore<readonly (readonly PageAction[])[]>([]);

/** Registers actions while the component is on the screen. */
export const usePageActions = (actions: readonly PageAction[]): void => {
  const current = useRef(actions);
  useEffect(() => {
    current.current = actions;
  });
  const shape = actions.map(({ id, title, key, isKeyOnly }) => [id, title, key, isKeyOnly].join('\n')).join('\n\n');
  useEffect(() => {
    const stable = current.current.map((action) => ({
      ...action,
      // The newest closure, also when only what it closes over has changed.
      run: () => current.current.find(({ id }) => id === action.id)?.run(),
    }));
    registeredPageActions.set((all) => [stable, ...all]);
    return () => registeredPageActions.set((all) => all.filter((one) => one !== stable));
  }, [shape]);
};

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest('input:not([type=checkbox]):not([type=radio]), textarea, select') !== null);

/** Controls that have an own meaning for Enter and the space bar. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('a, button, input, [role=menuitem], [role=option], [role=tab]') !== null;

/** Runs the action of a key, unless the user is typing or a dialog is open. */
export const runShortcut = (event: KeyboardEvent): void => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isTyping(event.target) || document.querySelector('[role=dialog], [role=alertdialog]') !== null) return;
  if ((event.key === 'Enter' || event.key === ' ') && isControl(event.target)) return;
  const action = registeredPageActions
    .get()
    .flat()
    .find(({ key }) => key === event.key);
  if (action === undefined) return;
  event.preventDefault();
  action.run();
};
