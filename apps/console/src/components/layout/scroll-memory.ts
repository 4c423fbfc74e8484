import { useLocation } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';

/** The offsets of lists, in pixels, by the entry of the browser's history that showed them. They last as long as the page. */
const offsets = new Map<string, number>();
const maxEntries = 100;

function remember(entry: string, offset: number): void {
  offsets.delete(entry);
  offsets.set(entry, offset);
  const [oldest] = offsets.keys();
  if (offsets.size > maxEntries && oldest !== undefined) offsets.delete(oldest);
}

/** Brings a list back to where it was when the user returns to it by Back or Forward. @param isReady whether the list has its rows */
export function useScrollMemory(scroller: RefObject<HTMLElement | null>, isReady: boolean): void {
  const entry = useLocation({ select: ({ state }) => state.__TSR_key ?? '' });
  const restored = useRef<string | undefined>(undefined);
  useEffect(() => {
    const element = scroller.current;
    if (!isReady || element === null) return undefined;
    const offset = offsets.get(entry);
    if (restored.current !== entry && offset !== undefined) element.scrollTo({ top: offset });
    restored.current = entry;
    const onScroll = (): void => remember(entry, element.scrollTop);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, [scroller, isReady, entry]);
}
