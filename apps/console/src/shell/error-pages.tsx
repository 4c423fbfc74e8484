import { Link, type ErrorComponentProps } from '@tanstack/react-router';
import { Button, buttonClass } from '../components/buttons/button.tsx';
import { EmptyState } from '../components/content/query-result.tsx';
import { sharedMessages } from '../messages/shared.ts';
import { Page } from '../components/layout/page.tsx';

/** Replaces a page that threw. The shell around it keeps working. */
export const ErrorPage = ({ error }: ErrorComponentProps) => (
  <EmptyState
    title={sharedMessages.errors.page}
    action={
      <>
        <pre>{error instanceof Error ? error.message : String(error)}</pre>
        <Button onPress={() => location.reload()}>{sharedMessages.errors.reload}</Button>
      </>
    }
  >
    {sharedMessages.errors.pageHelp}
  </EmptyState>
);

export const NotFoundPage = () => (
  <Page title={sharedMessages.errors.notFound}>
    <EmptyState
      title={sharedMessages.errors.notFound}
      action={
        <Link to="/flags" className={buttonClass()}>
          {sharedMessages.errors.toFlags}
        </Link>
      }
    >
      {sharedMessages.errors.notFoundHelp}
    </EmptyState>
  </Page>
);
