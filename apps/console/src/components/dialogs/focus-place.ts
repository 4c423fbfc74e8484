const focusable = 'a[href], button, input, select, textarea, [tabindex]';
/** What belongs together: the focus stays within it where it can. */
const groups =
  'li, fieldset, form, section, aside, [role=group], [role=region], [role=dialog], [role=alertdialog], main';

function isReachable(element: HTMLElement): boolean {
  return (
    element.tabIndex >= 0 &&
    !element.matches(':disabled') &&
    element.closest('[inert], [aria-hidden=true]') === null &&
    element.checkVisibility({ visibilityProperty: true })
  );
}

/** What a control does, without the thing to which it does that: `Remove the` of `Remove the value no`. */
function kindOf(element: Element): string {
  const label = element.getAttribute('aria-label') ?? element.textContent;
  return `${element.tagName} ${label.trim().split(/\s+/).slice(0, 2).join(' ')}`;
}

/** Whether an element is, or stands behind, what followed the removed node. */
function isBehind(element: Element, { target, nextSibling, previousSibling }: MutationRecord): boolean {
  const follows = (node: Node): boolean =>
    (node.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  if (nextSibling?.isConnected === true) return nextSibling.contains(element) || follows(nextSibling);
  if (previousSibling?.isConnected === true) return !previousSibling.contains(element) && follows(previousSibling);
  return !target.contains(element) && follows(target);
}

/** The control that takes the place of a removed one: the next that does the same, or else the next, and before its place if none is behind. */
function successorOf(removed: Element, record: MutationRecord): HTMLElement | undefined {
  const kind = kindOf(removed);
  const nearest = (found: readonly HTMLElement[]): HTMLElement | undefined =>
    found.find((element) => isBehind(element, record)) ?? found.at(-1);
  for (let group: Element | null = record.target as Element; group !== null;) {
    const found = [...group.querySelectorAll<HTMLElement>(focusable)].filter(isReachable);
    const successor = nearest(found.filter((element) => kindOf(element) === kind)) ?? nearest(found);
    if (successor !== undefined) return successor;
    if (group.matches('main, [role=dialog], [role=alertdialog]')) return undefined;
    group = group.parentElement?.closest(groups) ?? null;
  }
  return undefined;
}

/**
 * Keeps the focus near its place where an edit removes what has it, such as the button that removes a value from a list: without that it
 * would fall to the beginning of the document. Where a whole page is replaced, the next one begins at its title. It goes on for
 * as long as the document.
 */
export function keepFocusInPlace(): void {
  let focused: Element | undefined = document.activeElement ?? undefined;
  let path = location.pathname;
  document.addEventListener('focusin', ({ target }) => {
    focused = target instanceof Element ? target : undefined;
    path = location.pathname;
  });
  // Who presses beside everything has left it. An element that is being removed may lose the focus just before.
  document.addEventListener('focusout', ({ target }) =>
    queueMicrotask(() => {
      const hasLeft = focused === target && document.activeElement !== target && document.hasFocus();
      if (hasLeft && focused?.isConnected === true) focused = undefined;
    }),
  );
  const removals = new MutationObserver((records) => {
    const removed = focused;
    if (removed === undefined || removed.isConnected || path !== location.pathname) return;
    const record = records.findLast(
      ({ target, removedNodes }) => target.isConnected && [...removedNodes].some((node) => node.contains(removed)),
    );
    if (record === undefined || (record.target as Element).closest('main, [role=dialog], [role=alertdialog]') === null)
      return;
    const removedElements = [...record.removedNodes].filter((node) => node instanceof Element);
    if (removedElements.some((element) => element.matches('h1, :has(h1)'))) return;
    // After the others that give the focus back, to what opened a dialog or a menu.
    queueMicrotask(() => {
      if (document.activeElement === document.body) successorOf(removed, record)?.focus({ preventScroll: true });
    });
  });
  removals.observe(document.body, { childList: true, subtree: true });
}
