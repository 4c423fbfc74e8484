import { useLayoutEffect, useRef, useState } from 'react';

interface Overlay {
  readonly container: Element;
  /** what had the focus when it opened, then what had it when that opened which had it */
  readonly openers: readonly Element[];
}

const openOverlays = new Set<Overlay>();

function openersOf(focused: Element | null): readonly Element[] {
  if (focused === null || focused === document.body) return [];
  const around = [...openOverlays].find(({ container }) => container.contains(focused));
  return [focused, ...(around?.openers ?? [])];
}

/** Gives the focus back again where the element is removed while it has it, as a row is whose list is read again after its dialog has closed. */
function giveBackAfterRemoval(element: HTMLElement, openers: readonly Element[]): void {
  const removal = new MutationObserver(() => {
    if (element.isConnected) return;
    removal.disconnect();
    giveBack(openers);
  });
  removal.observe(document.body, { childList: true, subtree: true });
  // An element that is removed may lose the focus just before.
  const stop = (): void => void (element.isConnected && removal.disconnect());
  element.addEventListener('blur', () => queueMicrotask(stop), { once: true });
}

function giveBack(openers: readonly Element[]): void {
  if (openers.length === 0) return;
  for (const element of [...openers, document.querySelector('main h1')]) {
    if (document.activeElement !== document.body) return;
    if (!(element instanceof HTMLElement) || [...openOverlays].some(({ container }) => !container.contains(element)))
      continue;
    // React Aria lets the rest of the page have the focus again in an effect, which may be a task later.
    for (let cover = element.closest('[inert]'); cover instanceof HTMLElement; cover = element.closest('[inert]'))
      cover.inert = false;
    element.focus({ preventScroll: true });
    if (document.activeElement === element) giveBackAfterRemoval(element, openers);
  }
}

/**
 * Gives the focus back to what had it, in the task in which the dialog, menu or list around it closes: the next key finds it there. React
 * Aria does so a frame later, and a key pressed before is lost. Where the element that had it is gone, the one that opened that gets it, and
 * at last the title of the page.
 */
export function FocusReturn() {
  const place = useRef<HTMLSpanElement>(null);
  const [openers] = useState(() => openersOf(document.activeElement));
  useLayoutEffect(() => {
    const container = place.current?.parentElement;
    if (container == null) return undefined;
    const overlay = { container, openers };
    openOverlays.add(overlay);
    // A dialog has the keys from the moment it is seen, its first field from an effect of React Aria on.
    if (!container.contains(document.activeElement)) (container as HTMLElement).focus({ preventScroll: true });
    return () => {
      openOverlays.delete(overlay);
      // After this commit, in which the element may have been removed, and another dialog may have taken the focus.
      queueMicrotask(() => giveBack(openers));
    };
  }, [openers]);
  return <span ref={place} hidden />;
}
