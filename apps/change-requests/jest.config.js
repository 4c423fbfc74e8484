import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'change-requests', rootDir: import.meta.dirname };
