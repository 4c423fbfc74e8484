// Icons of 16 × 16 pixels, drawn for the console.
const paths = {
  add: 'M8 3v10M3 8h10',
  administration: 'M3 5h6M12 5h1M3 11h1M7 11h6M10.5 3.5v3M5.5 9.5v3',
  archive: 'M2.5 4.5h11M3.5 4.5v8h9v-8M6.5 7.5h3',
  arrowDown: 'M8 3v10M4 9l4 4 4-4',
  arrowUp: 'M8 13V3M4 7l4-4 4 4',
  bell: 'M4 11.5q1-1 1-4.5a3 3 0 0 1 6 0q0 3.5 1 4.5zM7 13.5h2',
  changeRequest:
    'M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 10.5V7q0-2-2-2H8M9.5 3 7.5 5l2 2',
  check: 'M3 8.5 6.5 12 13 4.5',
  chevronDown: 'M4 6l4 4 4-4',
  chevronRight: 'M6 4l4 4-4 4',
  cleanup: 'M9.5 2.5 8 8M5 8h6l1.5 5.5h-9zM6.5 13.5l.5-2M9.5 13.5 9 11.5',
  close: 'M4 4l8 8M12 4l-8 8',
  connect: 'M6 3v3.5M10 3v3.5M4.5 6.5h7v2a3.5 3.5 0 0 1-7 0zM8 12v2',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  edit: 'M3 13l.5-3L11 2.5l2.5 2.5L6 12.5z',
  events: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3l2 2',
  external: 'M6 3.5H3.5v9h9V10M9 2.5h4.5V7M13 3 7.5 8.5',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  flags: 'M3.5 14V2.5M3.5 3h9l-2 3 2 3h-9',
  help: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM6.5 6.5q0-1.5 1.5-1.5t1.5 1.5T8 8.5V9M8 11v.5',
  home: 'M2.5 7.5 8 3l5.5 4.5M4 6.5v6.5h8V6.5M6.5 12.5V9h3v3.5',
  info: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 7.5v3.5M8 5v.5',
  lock: 'M4 7.5h8v6H4zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  pin: 'M6 2.5h4M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  playground: 'M5 3.5v9l7-4.5z',
  projects: 'M2.5 4h4l1.5 2h5.5v6.5h-11z',
  remove: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4M9 7v4',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM10 10l3.5 3.5',
  star: 'M8 2.5l1.7 3.5 3.8.5-2.8 2.7.700 3.8L8 11.2 4.6 13l.700-3.8L2.5 6.5 6.3 6z',
  unread: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z',
  user: 'M8 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM3 13.5q1-4 5-4t5 4',
  warning: 'M8 2.5 14 13H2zM8 6.5V9.5M8 11v.5',
} as const;

export type IconName = keyof typeof paths;

/** An icon beside words, or inside a control that has an accessible name. It is hidden from assistive technology. */
export function Icon({ name, filled = false }: { readonly name: IconName; readonly filled?: boolean }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill={filled ? 'currentColor' : 'none'}
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
