import { useEffect } from 'react';

/**
 * Loads what the dialogs of a page need as soon as the user moves the pointer or presses a key: it is no part of what the page itself loads,
 * and letters that are typed right after a shortcut would be lost while a dialog is loading.
 */
export function usePreload(load: (() => Promise<unknown>) | undefined): void {
  useEffect(() => {
    if (load === undefined) return undefined;
    const heard = new AbortController();
    const start = (): void => {
      heard.abort();
      // A failure is reported by the dialog that needs it.
      load().catch(() => undefined);
    };
    for (const type of ['pointermove', 'pointerdown', 'keydown'])
      globalThis.addEventListener(type, start, { capture: true, signal: heard.signal });
    return () => heard.abort();
  }, [load]);
}
