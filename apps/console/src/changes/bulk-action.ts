/** What is done to all selected flags. */
export type BulkAction =
  | { readonly kind: 'switch'; readonly environment: string; readonly enabled: boolean }
  | { readonly kind: 'tag'; readonly tag: { readonly type: string; readonly value: string }; readonly isAdded: boolean }
  | { readonly kind: 'stale'; readonly stale: boolean }
  | { readonly kind: 'archive' };
