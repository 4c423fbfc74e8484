import { createStore } from '../store.ts';

export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const storageKey = 'bunting.theme';

const readStoredTheme = (): Theme => {
  try {
    return themes.find((theme) => theme === localStorage.getItem(storageKey)) ?? 'system';
  } catch {
    // The browser refuses storage: the theme lasts as long as the page.
    return 'system';
  }
};

export const theme = createStore<Theme>('system');

const apply = (chosen: Theme): void => {
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
};

/** Applies the theme that the user has chosen earlier in this browser. */
export const startTheme = (): void => {
  theme.set(readStoredTheme());
  apply(theme.get());
};

export const chooseTheme = (chosen: Theme): void => {
  theme.set(chosen);
  apply(chosen);
  try {
    localStorage.setItem(storageKey, chosen);
  } catch {
    // The browser refuses storage: the theme lasts as long as the page.
  }
};
