import { Link, type ErrorComponentProps } from '@tanstack/react-router';
import { Button, buttonClass } from '../components/buttons/button.tsx';
import { EmptyState } from '../components/content/query-result.tsx';
import { isMissingPart } from '../components/content/lazy-part.tsx';
import { Page } from '../components/layout/page.tsx';

/** Replaces a page that threw. The shell around it keeps working. */
export function ErrorPage({ error }: ErrorComponentProps) {
  if (isMissingPart(error))
    return (
      <EmptyState
        title="A part of this page cannot be loaded"
        action={
          <Button variant="primary" onPress={() => location.reload()}>
            Load the page again
          </Button>
        }
      >
        Bunting was updated since this page was loaded, or there was no connection for a moment.
      </EmptyState>
    );
  return (
    <EmptyState
      title="This page has a fault"
      action={
        <>
          <pre>{error instanceof Error ? error.message : String(error)}</pre>
          <Button onPress={() => location.reload()}>Reload</Button>
        </>
      }
    >
      The rest of the console works. Reload the page; if it happens again, report the text below.
    </EmptyState>
  );
}

export function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <p>The address may be mistyped, or what it showed is gone.</p>
      <p>
        <Link to="/" className={buttonClass()}>
          Go to Home
        </Link>
      </p>
    </Page>
  );
}
