import { Component, type FunctionComponent, lazy } from 'react';
import { Button } from '../buttons/button.tsx';
import { Notice } from './notice.tsx';

/** How Chromium, Firefox, Safari and Vite say that a part of the console cannot be loaded. */
const missingPart = /dynamically imported module|^Importing a module script failed|^Unable to preload CSS/;

/** Whether an error says that a part of the console cannot be loaded: it is one of an earlier build, or there was no connection. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof Error && missingPart.test(error.message);
}

interface BoundaryProps {
  readonly children: React.ReactNode;
}

class PartBoundary extends Component<BoundaryProps, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    if (!isMissingPart(error)) throw error;
    // Browsers remember that a module could not be loaded: only a new page asks for it again.
    return (
      <Notice
        tone="danger"
        actions={
          <Button size="small" onPress={() => location.reload()}>
            Load the page again
          </Button>
        }
      >
        This part cannot be loaded: there was no connection, or Bunting was updated since the page was loaded. What you
        entered is still there: save it, and load the page again.
      </Notice>
    );
  }
}

/**
 * A component whose code is loaded when it is first shown, within a `Suspense`. Where it cannot be loaded, a notice takes its place, and all
 * around it stays as it is, with what was entered there: React's own `lazy` would fail the whole page.
 */
export function lazyPart<P extends object>(load: () => Promise<FunctionComponent<P>>) {
  const Loaded = lazy(async () => ({ default: await load() }));
  return function Part(props: P) {
    return (
      <PartBoundary>
        <Loaded {...props} />
      </PartBoundary>
    );
  };
}
