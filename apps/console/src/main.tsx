import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Button } from 'react-aria-components';
import { GetProfile, SearchFeatures } from '@bunting/contracts';

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Button>{`${GetProfile.http?.url} ${SearchFeatures.http?.url}`}</Button>
  </StrictMode>,
);
