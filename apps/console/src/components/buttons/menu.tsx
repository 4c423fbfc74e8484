import { cloneElement, type ReactElement, Suspense, useRef, useState } from 'react';
import type { IconName } from '../content/icon.tsx';
import { lazyPart } from '../content/lazy-part.tsx';

const MenuPopover = lazyPart(() => import('./menu-popover.tsx').then(({ MenuPopover }) => MenuPopover));

export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

interface TriggerProps {
  readonly onPress?: () => void;
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
}

interface MenuProps {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  /** the button that opens the menu */
  readonly children: ReactElement<TriggerProps>;
}

/** A button that opens a menu of actions. The menu itself is loaded when it is first opened. */
export function Menu({ label, entries, children }: MenuProps) {
  const trigger = useRef<HTMLSpanElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <span ref={trigger}>
      {cloneElement(children, { onPress: () => setOpen(true), 'aria-haspopup': 'menu', 'aria-expanded': isOpen })}
      <Suspense>
        {isOpen && <MenuPopover label={label} entries={entries} trigger={trigger} onClose={() => setOpen(false)} />}
      </Suspense>
    </span>
  );
}
