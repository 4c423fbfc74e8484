import { createStore, keepText, keptText } from '../store.ts';

export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const storageKey = 'bunting.theme';

function readStoredTheme(): Theme {
  const stored = keptText(storageKey);
  return themes.find((theme) => theme === stored) ?? 'system';
}

export const themeStore = createStore<Theme>('system');

function applyTheme(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}

/** Applies the theme that the user has chosen earlier in this browser. */
export function applyStoredTheme(): void {
  themeStore.set(readStoredTheme());
  applyTheme(themeStore.get());
}

export function chooseTheme(chosen: Theme): void {
  themeStore.set(chosen);
  applyTheme(chosen);
  keepText(storageKey, chosen);
}
