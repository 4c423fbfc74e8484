import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'all-in-one', rootDir: import.meta.dirname };
