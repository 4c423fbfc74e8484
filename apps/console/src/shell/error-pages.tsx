import { Link, type ErrorComponentProps } from '@tanstack/react-router';
import { Button, buttonClass } from '../components/buttons/button.tsx';
import { EmptyState } from '../components/content/content.tsx';
import { messages } from '../messages/shared.ts';
import { Page } from '../components/layout/page.tsx';

/** Replaces a page that threw. The shell around it keeps working. */
export const ErrorPage = ({ error }: ErrorComponentProps) => (
  <EmptyState
    title={messages.errors.page}
    action={
      <>
        <pre>{error instanceof Error ? error.message : String(error)}</pre>
        <Button onPress={() => location.reload()}>{messages.errors.reload}</Button>
      </>
    }
  >
    {messages.errors.pageHelp}
  </EmptyState>
);

export const NotFoundPage = () => (
  <Page title={messages.errors.notFound}>
    <EmptyState
      title={messages.errors.notFound}
      action={
        <Link to="/flags" className={buttonClass()}>
          {messages.errors.toFlags}
        </Link>
      }
    >
      {messages.errors.notFoundHelp}
    </EmptyState>
  </Page>
);
