import { SearchFeatures } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/queries.ts';
import { Answer, Table } from '../../components/content.tsx';
import { Page } from '../../components/page.tsx';
import { messages } from '../../messages.ts';

export const FlagsPage = () => {
  const query = useQuery(read(SearchFeatures, { query: { limit: '50' } }));
  return (
    <Page title={messages.shell.flags}>
      <Answer query={query}>
        {({ features }) => (
          <Table
            label={messages.shell.flags}
            columns={[{ id: 'name', title: 'Name', cell: ({ name }) => name }]}
            rows={features}
            rowKey={({ name }) => name}
          />
        )}
      </Answer>
    </Page>
  );
};

export const ProjectFlagsPage = FlagsPage;
