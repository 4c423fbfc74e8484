import { GetMe, type Me } from '@bunting/contracts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { createQueryClient } from './api/query-client.ts';
import { operationQuery } from './api/queries-and-mutations.ts';
import { router } from './routes.tsx';

/** All pages. @param me who is signed in, where it is known */
export function Console({ me }: { readonly me: Me | undefined }) {
  const [client] = useState(() => {
    const created = createQueryClient();
    if (me !== undefined) created.setQueryData(operationQuery(GetMe, {}).queryKey, me);
    return created;
  });
  return (
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}
